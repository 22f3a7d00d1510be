import Decoding
import Linux
import Model
import ProcessRuntime
import Sandbox
import Synchronization

/// Decodes bytes to pixels: one job at a time, without network access.
enum DecodeProgram {
    static func run(_ words: [String]) -> Int32 {
        WorkerProgram.run(.decode, words, abilities: abilities) { parts in
            let log = parts.log
            let arena = try parts.stageArena()
            let stage = try DecodeStage(parts.place.pool.family) { domain, message in
                log.debug("libvips", ["domain": .string(domain), "message": .string(message)])
            }
            // Enter the sandbox now: the libraries are loaded, and it confines only threads that
            // start later.
            let sandbox = Sandbox.enter(
                .decode(
                    pool: parts.place.pool, inputs: parts.place.inputs, paths: parts.paths,
                    arenaBytesMax: try parts.arenaBytesMax), log: log)
            let directories = parts.directories
            let executor = try SingleJobExecutor(
                name: "decode", arena: arena, reporter: parts.reporter
            ) {
                let reader = BlockReader(directories: directories)
                return SingleJobExecutor.Work { work, flag throws(ImageError) in
                    guard case .decode(let decode) = work else { throw .notOurs(work) }
                    defer { reader.trim() }
                    let input = try reader.bytes(of: decode.source)
                    return .decoded(
                        try stage.perform(decode, input: input, output: arena, cancellation: flag))
                } whenIdle: {
                    reader.forgetUnlinked()
                }
            }
            return WorkerMachine(executor: executor, arenas: [arena], sandbox: sandbox)
        }
    }

    /// Returns the formats that the linked libraries can decode, of both families.
    private static func abilities() -> WorkerAbilities {
        var abilities = WorkerAbilities()
        for family in FormatFamily.allCases {
            let names = ImageFormat.decodable(family).map(\.name)
            let warnings = Mutex<[String]>([])
            do {
                _ = try DecodeStage(family) { domain, message in
                    guard domain == "decode" else { return }
                    warnings.withLock { $0.append(message) }
                }
                abilities.reads += names
            } catch {
                abilities.missing.append("\(names.joined(separator: ", ")): \(error.message)")
            }
            abilities.missing += warnings.withLock { $0 }
        }
        return abilities
    }
}
