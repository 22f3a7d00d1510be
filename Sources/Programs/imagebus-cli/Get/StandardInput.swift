import ImageModel
import Linux
import StackAccess

/// The image of `get -`.
enum StandardInput {
    /// What a coordinator takes, unless it is configured for less.
    static let bytesMax = 64 << 20
    private static let chunkBytes = 1 << 16

    /// Reads to the end, or until Ctrl-C; before a stack is asked or started.
    ///
    /// Throws `invalidRequest` where there is nothing, and `limitExceeded` as soon as there is more
    /// than `bytesMax`.
    static func read(_ interruption: Interruption) throws(ImageError) -> [UInt8] {
        let bytes: [UInt8]
        do throws(Errno) {
            bytes = try readToEnd(interruption)
        } catch .interrupted {
            throw ImageError(.cancelled, "cancelled")
        } catch .fileTooLarge {
            throw ImageError(
                .limitExceeded, "standard input has more than \(bytesMax) bytes",
                details: ["limit": "\(bytesMax)"])
        } catch {
            throw ImageError(.invalidRequest, "standard input cannot be read (\(error))")
        }
        if bytes.isEmpty { throw ImageError(.invalidRequest, "standard input is empty") }
        return bytes
    }

    /// Throws `interrupted` after Ctrl-C and `fileTooLarge` beyond `bytesMax`.
    private static func readToEnd(_ interruption: Interruption) throws(Errno) -> [UInt8] {
        // A second owner of it: what this closes stays open.
        let first = FileDescriptor(owning: 0)
        let input = try first.duplicate()
        _ = first.relinquish()
        let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: chunkBytes, alignment: 16)
        defer { chunk.deallocate() }
        var bytes: [UInt8] = []
        while true {
            let ready = try interruption.wait(for: [input.number], milliseconds: nil)
            if interruption.count > 0 { throw .interrupted }
            if ready.isEmpty { continue }
            let count = try input.read(into: chunk)
            if count == 0 { return bytes }
            bytes += chunk[..<count]
            if bytes.count > bytesMax { throw .fileTooLarge }
        }
    }
}
