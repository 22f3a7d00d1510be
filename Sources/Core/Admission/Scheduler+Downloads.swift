import Derivation
import Dispatching
import Messages

// Transfers that wait (SEMANTICS §10.17).
extension Scheduler {
    /// What an operator wants of them; what waited begins with the next event.
    mutating func obey(_ command: DownloadCommand) {
        deriver.limitTransfers { $0.isSuspended = command == .suspend }
    }
}
