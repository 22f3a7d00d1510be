import Admission
import ImageModel
import Messages

/// A sequence of what clients ask and workers claim: segments that come and go, outcomes that name
/// bytes, sound or forged.
///
/// Whatever comes, no forged reference is believed, no block is read that is not there, each is
/// released exactly once and by the end, and every request has one reply.
enum SchedulerTarget {
    static func run(_ bytes: [UInt8]) throws(BrokenInvariant) {
        var reader = ByteReader(bytes)
        let how = reader.byte()
        var stack = ForgingStack(isTight: how & 1 != 0, framesMax: how & 2 != 0 ? 3 : 1)
        while !reader.isAtEnd { try stack.step(&reader) }
        try stack.comeToRest()
    }
}
