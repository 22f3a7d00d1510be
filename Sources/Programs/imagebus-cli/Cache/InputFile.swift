import ImageModel
import Linux

/// A file that a command was told to read.
enum InputFile {
    /// All of it.
    ///
    /// Throws `invalidRequest` where it cannot be read or is empty, and `limitExceeded` where it
    /// has more than `bytesMax`.
    static func read(_ path: String, bytesMax: Int) throws(ImageError) -> [UInt8] {
        let bytes: [UInt8]
        do throws(Errno) {
            bytes = try FileDescriptor.open(path, [.readOnly]).readToEnd(bytesMax: bytesMax)
        } catch .fileTooLarge {
            throw ImageError(
                .limitExceeded, "\(path) has more than \(bytesMax) bytes",
                details: ["limit": "\(bytesMax)"])
        } catch {
            throw ImageError(.invalidRequest, "\(path) cannot be read (\(error))")
        }
        if bytes.isEmpty { throw ImageError(.invalidRequest, "\(path) is empty") }
        return bytes
    }
}
