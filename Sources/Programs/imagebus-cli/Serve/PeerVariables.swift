import CommandLineInterface
import Messages

/// What variables of other servers (`IMGPROXY_…`, `THUMBOR_…`, `IMAGOR_…`) say of a stack with a
/// gateway. Options and variables of our own win.
struct PeerVariables {
    /// What was read, and what these variables add.
    let read: ReadOptions
    /// The variables from which the gateway takes its keys.
    private(set) var secrets: [String: String] = [:]
    /// One of them that is not read, since no gateway runs here; nil: there is none.
    private(set) var ignored: String?

    /// Throws for a variable that is not supported, and for one of a process that this stack does
    /// not run.
    init(
        _ given: ReadOptions, only kind: ProcessKind?, environment: [String: String]
    ) throws(UsageError) {
        let grammar = given.last("gateway-grammar")
        let hasGateway =
            given.isSet("gateway") || kind == .gateway || (kind == nil && grammar != nil)
        guard hasGateway, kind == nil || kind == .gateway else {
            read = given
            if kind == nil {
                ignored = environment.keys.filter(PeerSettings.isOfServer).min()
            }
            return
        }
        let translation: PeerSettings.Translation
        do throws(PeerSettings.Fault) {
            translation = try PeerSettings.translate(environment, grammar: grammar ?? "imgproxy")
        } catch {
            throw UsageError("\(error)")
        }
        var added: [ReadOptions.Entry] = []
        for entry in translation.entries {
            let (name, variable) = (entry.option.name, entry.variable)
            let isOfFront = name.hasPrefix("gateway") || name.hasPrefix("log-")
            guard isOfFront || kind == nil else {
                throw UsageError(
                    "\(variable): it is --\(name), which another process of the stack needs: set "
                        + "it there, and remove the variable here")
            }
            guard !given.isSet(name) else { continue }
            added.append(
                ReadOptions.Entry(
                    name: name, value: entry.option.value, origin: .variable(variable)))
        }
        var read = given
        read.entries = added + given.entries
        self.read = read
        for variable in translation.keyVariables { secrets[variable] = environment[variable] }
    }
}
