import Linux
import Model
import ProcessRuntime
import Sandbox
import Transforming

/// Transforms and encodes pixels: one job at a time, without network access.
enum TransformProgram {
    static func run(_ words: [String]) -> Int32 {
        WorkerProgram.run(.transform, words, abilities: abilities) { parts in
            let log = parts.log
            let arena = try parts.stageArena()
            let stage = try TransformStage { domain, message in
                log.debug("libvips", ["domain": .string(domain), "message": .string(message)])
            }
            // Enter the sandbox now: the libraries are loaded, and it confines only threads that
            // start later.
            let sandbox = Sandbox.enter(
                .transform(
                    pool: parts.place.pool, inputs: parts.place.inputs, paths: parts.paths,
                    arenaBytesMax: try parts.arenaBytesMax), log: log)
            let directories = parts.directories
            let executor = try SingleJobExecutor(
                name: "transform", arena: arena, reporter: parts.reporter
            ) {
                let reader = BlockReader(directories: directories)
                return SingleJobExecutor.Work { work, flag throws(ImageError) in
                    switch work {
                    case .transform(let transform):
                        defer { reader.trim() }
                        var overlays: [OverlayPixels] = []
                        for overlay in transform.overlays {
                            overlays.append(
                                OverlayPixels(copying: try reader.bytes(of: overlay.source)))
                        }
                        let pixels = try reader.bytes(of: transform.source)
                        return .transformed(
                            try stage.perform(
                                transform, pixels: pixels, overlays: overlays, output: arena,
                                cancellation: flag))
                    case .paint(let paint):
                        return .transformed(
                            try stage.paint(paint, output: arena, cancellation: flag))
                    default: throw .notOurs(work)
                    }
                } whenIdle: {
                    reader.forgetUnlinked()
                }
            }
            return WorkerMachine(executor: executor, arenas: [arena], sandbox: sandbox)
        }
    }

    /// Returns the formats that the linked libraries can encode.
    private static func abilities() -> WorkerAbilities {
        var abilities = WorkerAbilities()
        let names = ImageFormat.encodable.map(\.name)
        do {
            _ = try TransformStage()
            abilities.writes = names
        } catch {
            abilities.missing.append("\(names.joined(separator: ", ")): \(error.message)")
        }
        return abilities
    }
}
