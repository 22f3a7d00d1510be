import Linux
import Messages

/// The pipe on which one child tells how far it is.
final class ReadyPipe {
    /// None once the child has closed its end, or has written anything else: one that goes on
    /// writing is told by the kernel, and not held up.
    private var readEnd: FileDescriptor?
    private var line: [UInt8] = []

    /// Takes the end that is read.
    init(_ readEnd: consuming FileDescriptor) throws(Errno) {
        try readEnd.setNonBlocking()
        self.readEnd = consume readEnd
    }

    /// What to poll, while there is anything to hear.
    var number: Int32? { readEnd?.number }

    private var isOpen: Bool { number != nil }

    /// What was told since the last call.
    func take() -> [LifeSign] {
        guard isOpen else { return [] }
        var told: [LifeSign] = []
        for byte in readAvailable() where isOpen { tell(byte, into: &told) }
        return told
    }

    private func tell(_ byte: UInt8, into told: inout [LifeSign]) {
        guard byte == UInt8(ascii: "\n") else {
            line.append(byte)
            if line.count > LifeSign.lineBytesMax { readEnd = nil }
            return
        }
        if let sign = LifeSign(line: String(decoding: line, as: UTF8.self)) {
            told.append(sign)
        } else {
            readEnd = nil
        }
        line = []
    }

    /// One buffer is more than an honest child writes in a turn; the rest comes with the next.
    private func readAvailable() -> [UInt8] {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256, alignment: 16)
        defer { buffer.deallocate() }
        do throws(Errno) {
            let count = try readEnd?.read(into: buffer) ?? 0
            if count == 0 { readEnd = nil }
            return Array(buffer[..<count])
        } catch .wouldBlock {
            return []
        } catch {
            readEnd = nil
            return []
        }
    }
}
