import ImageModel
import Linux
import SharedArena

/// The stack that a command uses: somebody's, or one of its own.
final class OpenStack {
    let paths: RuntimePaths
    /// Its supervisor runs: the coordinator is waited for within the request's deadline.
    let isWaitedFor: Bool
    private let own: PrivateStack?
    /// It was started for this command, with all that its options allow.
    var isOwn: Bool { own != nil }

    /// A named endpoint that nobody serves for so long is an error of its own (DESIGN §2).
    static let connectMilliseconds = 5_000

    /// Finds it, or starts it.
    init(_ options: StackOptions, _ interruption: Interruption) throws(ImageError) {
        switch try StackChoice.choose(options) {
        case .named(let paths):
            (self.paths, isWaitedFor, own) = (paths, false, nil)
        case .running(let paths):
            (self.paths, isWaitedFor, own) = (paths, true, nil)
        case .none:
            let started = try PrivateStack.start(options, interruption)
            (paths, isWaitedFor, own) = (started.paths, false, started)
        }
    }

    func connectMilliseconds(_ timeout: Int) -> Int {
        isWaitedFor ? timeout : Self.connectMilliseconds
    }

    func end(_ interruption: Interruption) { own?.end(interruption) }
}
