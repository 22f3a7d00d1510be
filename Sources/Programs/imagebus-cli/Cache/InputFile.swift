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
            throw ImageError(
                .invalidRequest, "\(path) cannot be read (\(error)): \(advice(error))")
        }
        if bytes.isEmpty { throw ImageError(.invalidRequest, "\(path) is empty") }
        return bytes
    }

    private static func advice(_ error: Errno) -> String {
        switch error {
        case .noSuchFile, .notDirectory:
            "look at its name with ls, or give - and the bytes by a pipe"
        case .isDirectory: "it is a directory; name a file in it"
        case .accessDenied, .notPermitted:
            "name a file that user \(CurrentProcess.userID) may read"
        default: "copy it elsewhere, and name the copy"
        }
    }
}
