/// Under which texts things are cached, as far as that was found out before.
struct Naming: Sendable {
    var memo: RequestNamesMemo
    var variances: VarianceTable

    init(_ limits: SchedulerLimits) {
        memo = RequestNamesMemo(namesMax: limits.namesMax)
        variances = VarianceTable(keysMax: limits.namesMax)
    }
}
