import ImagebusWorker
import Model
import ProcessRuntime
import TestKit

/// A temporary arena and a log that is never read.
struct StageBench {
    let arena: Arena
    let log = Log(program: "test", descriptor: -1)
    private let folder = TestKit.TemporaryDirectory()

    init() throws {
        arena = try Arena(
            directory: folder.path, name: .stage,
            incarnation: Incarnation(Identifier128(high: 1, low: 2)), totalBytesMax: 64 << 20)
    }

    /// The bytes of a block that was handed over.
    func bytes(_ reference: BlockReference) throws -> [UInt8] {
        let name = "\(Identifier128(high: 1, low: 2).hex).\(reference.segment)"
        let all = FileBytes.read(folder.file(name)) ?? []
        return Array(all.dropFirst(Int(reference.offset)).prefix(Int(reference.length)))
    }

    /// Leaves bytes of another image in memory that is reused next.
    func soil(_ count: Int) throws {
        let block = try arena.reserve(count)
        for index in 0..<count { block.bytes[index] = 0xEE }
        arena.discard(block)
    }

    static let nowhere = BlockReference(segment: 1, offset: 64, length: 1, block: BlockID(1))
}

/// The error of an author's stage; nil if it throws none.
func refusal<Value>(_ body: () throws -> Value) -> ImageError? {
    do {
        _ = try body()
        return nil
    } catch {
        return error as? ImageError
    }
}
