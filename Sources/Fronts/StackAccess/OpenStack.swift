package import ImageModel
import Linux

/// The stack that a command uses: somebody's, or one of its own.
package final class OpenStack {
    package let route: StackRoute
    /// Its supervisor runs: the coordinator is waited for within the request's deadline.
    package let isWaitedFor: Bool
    private let own: PrivateStack?
    /// It was started for this command, with all that its options allow.
    package var isOwn: Bool { own != nil }

    /// For so long a named endpoint is waited for whose supervisor runs.
    package static let connectMilliseconds = 5_000

    /// Finds it, or starts it.
    package init(_ options: StackOptions, _ interruption: Interruption) throws(ImageError) {
        switch try StackChoice.choose(options) {
        case .named(let route):
            (self.route, isWaitedFor, own) = (route, false, nil)
        case .running(let route):
            (self.route, isWaitedFor, own) = (route, true, nil)
        case .none:
            let started = try PrivateStack.start(options, interruption)
            (route, isWaitedFor, own) = (StackRoute(own: started.paths), false, started)
        }
    }

    package func connectMilliseconds(_ timeout: Int) -> Int {
        isWaitedFor ? timeout : Self.connectMilliseconds
    }

    package func end(_ interruption: Interruption) { own?.end(interruption) }
}
