import Messages

extension DispatchLimits.JobDeadlines {
    /// Milliseconds for which a worker may hold a job of that stage.
    func milliseconds(_ stage: JobStage) -> Int {
        switch stage {
        case .store: store
        case .query: query
        case .fetch: fetch
        case .decode: decode
        case .transform: transform
        }
    }
}
