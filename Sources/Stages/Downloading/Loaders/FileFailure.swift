import ImageModel
import Linux

/// Why a file is not read. What is not there, or may not be read, is said in the statuses of HTTP,
/// which rules can name (SEMANTICS §7.2).
enum FileFailure {
    /// The root cannot be opened.
    case root(Errno)
    /// There is no such file.
    case missing
    /// The download process may not read it.
    case denied
    /// A link leads out of the root.
    case outside
    /// A directory, a pipe, a socket, a device.
    case notRegular
    /// Somebody wrote it meanwhile.
    case changed
    /// The kernel cannot keep a path below a root.
    case noOpenBeneath
    /// The disk.
    case system(Errno)

    init(_ error: Errno) {
        switch error {
        case .noSuchFile, .notDirectory, .nameTooLong: self = .missing
        case .accessDenied, .notPermitted: self = .denied
        case .crossDevice, .symbolicLink: self = .outside
        case .noDevice: self = .notRegular
        case .noFunction: self = .noOpenBeneath
        default: self = .system(error)
        }
    }

    var failure: DownloadFailure { .refused(imageError) }

    private var imageError: ImageError {
        switch self {
        case .root(let error):
            ImageError(
                .invalidDownloadOperation,
                "the download process cannot open the root of this loader (\(error.name)): it has "
                    + "to be there, and a directory; in a container it has to be mounted")
        case .missing: Self.status(404, "there is no such file below the root of the loader")
        case .denied: Self.status(403, "the download process may not read this file")
        case .outside:
            ImageError(
                .addressForbidden, "a link leads out of the root of the loader, or in a circle")
        case .notRegular: ImageError(.invalidDownloadResponse, "this is no regular file")
        case .changed: ImageError(.shortBody, "the file was written while it was read")
        case .noOpenBeneath:
            ImageError(
                .invalidDownloadOperation,
                "this kernel has no openat2 (Linux 5.6), without which no file is read")
        case .system(let error):
            ImageError(.invalidDownloadOperation, "the file cannot be read: \(error)")
        }
    }

    private static func status(_ status: Int, _ text: String) -> ImageError {
        ImageError(.invalidDownloadStatusCode, text, details: ["httpStatus": String(status)])
    }
}
