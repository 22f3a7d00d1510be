import Coordinator
import Model

/// A sequence of client requests and worker claims: segments announced and closed, and outcomes
/// that reference bytes, valid or forged.
///
/// In every case, no forged reference is accepted, no nonexistent block is read, each block is
/// released exactly once by the end, and every request has one reply.
enum SchedulerTarget {
    static func run(_ bytes: [UInt8]) throws(BrokenInvariant) {
        var reader = ByteReader(bytes)
        let how = reader.byte()
        var stack = ForgingStack(isTight: how & 1 != 0, framesMax: how & 2 != 0 ? 3 : 1)
        while !reader.isAtEnd { try stack.step(&reader) }
        try stack.comeToRest()
    }
}
