/// Whether nothing new is admitted, and whether it was said that all has ended.
struct Drain: Sendable {
    var isBegun = false
    var isTold = false
}
