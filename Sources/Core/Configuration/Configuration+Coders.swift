import ImageModel
import Messages

// Coders: pools of decoders by name.
extension Configuration {
    /// Those that a request or a profile may name: what every stack has, and the others.
    package var coderNames: Set<String> {
        let ofEveryStack = [WorkerKind.decode.name, PoolName.vector.text]
        return Set(ofEveryStack + pools.filter { $0.kind == .decode }.map(\.name.text))
    }

    /// The same names, where there are such. Throws for one that there is not, with those that
    /// there are.
    func coders(_ names: [String]) throws(ImageError) -> [String] {
        let known = names.isEmpty ? [] : coderNames
        guard names.allSatisfy(known.contains) else { throw Self.unknown("coder", known) }
        return names
    }
}
