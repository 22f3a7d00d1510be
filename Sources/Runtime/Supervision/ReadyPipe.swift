import Linux
import Messages

/// The pipe on which one child tells how far it is.
final class ReadyPipe {
    private let readEnd: FileDescriptor
    private var line: [UInt8] = []
    /// False once the child has closed its end, or has written anything else.
    private(set) var isOpen = true

    /// Takes the end that is read.
    init(_ readEnd: consuming FileDescriptor) throws(Errno) {
        self.readEnd = readEnd
        try self.readEnd.setNonBlocking()
    }

    /// What to poll while `isOpen`.
    var number: Int32 { readEnd.number }

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
            isOpen = line.count <= LifeSign.lineBytesMax
            return
        }
        if let sign = LifeSign(line: String(decoding: line, as: UTF8.self)) {
            told.append(sign)
        } else {
            isOpen = false
        }
        line = []
    }

    /// One buffer is more than an honest child writes in a turn; the rest comes with the next.
    private func readAvailable() -> [UInt8] {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256, alignment: 16)
        defer { buffer.deallocate() }
        do throws(Errno) {
            let count = try readEnd.read(into: buffer)
            if count == 0 { isOpen = false }
            return Array(buffer[..<count])
        } catch .wouldBlock {
            return []
        } catch {
            isOpen = false
            return []
        }
    }
}
