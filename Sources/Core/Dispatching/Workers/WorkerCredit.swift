/// The workers of one pool that take jobs.
package struct WorkerCredit: Hashable, Sendable {
    /// Jobs that they take at a time.
    package var window = 0
    /// Jobs that they hold, cancelled ones included.
    package var held = 0
    /// Those among them of class low, without expendable ones.
    package var heldLow = 0
    /// Those among them that are expendable.
    package var heldExpendable = 0

    /// How many more they take.
    var free: Int { max(0, window - held) }
}
