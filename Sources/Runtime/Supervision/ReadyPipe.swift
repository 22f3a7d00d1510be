import Linux
import Messages

/// The pipe on which one child tells how far it is.
final class ReadyPipe {
    /// Closed once the child has written anything else than how far it is.
    private let pipe: ChildPipe
    private var line: [UInt8] = []

    /// More than an honest child writes in a turn; the rest comes with the next.
    private static let readMax = 256

    /// Takes the end that is read.
    init(_ readEnd: consuming FileDescriptor) throws(Errno) {
        pipe = try ChildPipe(readEnd)
    }

    /// What to poll, while there is anything to hear.
    var number: Int32? { pipe.number }

    private var isOpen: Bool { number != nil }

    /// What was told since the last call.
    func take() -> [LifeSign] {
        guard isOpen else { return [] }
        var told: [LifeSign] = []
        for byte in pipe.read(upTo: Self.readMax) where isOpen { tell(byte, into: &told) }
        return told
    }

    private func tell(_ byte: UInt8, into told: inout [LifeSign]) {
        guard byte == UInt8(ascii: "\n") else {
            line.append(byte)
            if line.count > LifeSign.lineBytesMax { pipe.close() }
            return
        }
        if let sign = LifeSign(line: String(decoding: line, as: UTF8.self)) {
            told.append(sign)
        } else {
            pipe.close()
        }
        line = []
    }
}
