import ImageModel
import Linux
import SharedArena

/// The stack that `get` uses: somebody's, or one of its own.
final class OpenStack {
    let paths: RuntimePaths
    /// Its supervisor runs: the coordinator is waited for within the request's deadline.
    let isWaitedFor: Bool
    private let own: PrivateStack?

    /// A named endpoint that nobody serves for so long is an error of its own (DESIGN §2).
    static let connectMilliseconds = 5_000

    /// Finds it, or starts it.
    init(_ options: GetOptions, _ interruption: Interruption) throws(ImageError) {
        switch try StackChoice.choose(options.stack) {
        case .named(let paths):
            (self.paths, isWaitedFor, own) = (paths, false, nil)
        case .running(let paths):
            (self.paths, isWaitedFor, own) = (paths, true, nil)
        case .none:
            let started = try PrivateStack.start(options.stack, interruption)
            (paths, isWaitedFor, own) = (started.paths, false, started)
        }
        if own == nil, options.stack.network != NetworkOptions() {
            Terminal.error(
                "imagebus get: the running stack decides which addresses it reaches; "
                    + "--private starts one that obeys --allow-…\n")
        }
    }

    func connectMilliseconds(_ timeout: Int) -> Int {
        isWaitedFor ? timeout : Self.connectMilliseconds
    }

    func end(_ interruption: Interruption) { own?.end(interruption) }
}
