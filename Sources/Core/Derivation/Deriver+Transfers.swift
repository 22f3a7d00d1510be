package import Dispatching

extension Deriver {
    /// How many transfers may run from now on; what waits begins with the next event.
    package mutating func limitTransfers(_ change: (inout TransferGate) -> Void) {
        change(&dispatcher.transfers)
    }
}
