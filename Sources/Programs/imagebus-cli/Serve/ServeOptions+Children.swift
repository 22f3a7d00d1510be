import Linux
import Messages
import Observability
import StackAccess
import Supervision

extension ServeOptions {
    /// The children of this stack, the coordinator first. `secretFile` is the coordinator's.
    func children(
        programs directory: String, secretFile: String? = nil
    ) -> [ChildSpecification] {
        kinds.map { kind in
            ChildSpecification(
                kind: kind, program: "\(directory)/\(ChildSpecification.programName(kind))",
                arguments: ["--runtime-dir", runtimeDirectory] + log.arguments
                    + arguments(of: kind, secretFile: secretFile))
        }
    }

    private func arguments(of kind: WorkerKind, secretFile: String?) -> [String] {
        switch kind {
        case .coordinator:
            option("--secret-file", secretFile) + option("--config", configurationFile)
                + coordinator.arguments + (only == nil ? [] : ["--keeps-workers"])
                + (requestLogging == .misses ? [] : ["--log-requests", requestLogging.rawValue])
        case .download: network.arguments
        case .cache:
            option("--cache-dir", cacheDirectory) + option("--memory-limit", memoryLimit)
                + option("--disk-limit", diskLimit) + (yieldsCache ? ["--yield-cache"] : [])
        case .decode, .transform: []
        }
    }

    private func option(_ name: String, _ value: (some CustomStringConvertible)?) -> [String] {
        value.map { [name, $0.description] } ?? []
    }

    /// Where the programs lie: `IMAGEBUS_PROGRAMS`, else beside this one.
    static func programsDirectory(environment: [String: String]) throws(Errno) -> String {
        if let named = environment["IMAGEBUS_PROGRAMS"], !named.isEmpty { return named }
        let path = try CurrentProcess.executablePath()
        return String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
    }
}
