import ImageModel
import Linux
import Messages

/// By what a file is known again: what HTTP calls validators.
struct FileMarks: Equatable {
    /// Of inode, size and time of the last change in nanoseconds.
    let etag: String
    /// The same time in seconds.
    let lastModified: String

    init(_ status: FileStatus) {
        let time = "\(hex(status.modifiedSeconds)).\(hex(status.modifiedNanoseconds))"
        etag = "\"\(hex(status.inode))-\(hex(status.size))-\(time)\""
        lastModified = HTTPDate.text(of: status.modifiedSeconds)
    }

    /// A date counts only where there is no entity tag (RFC 9110 §13.1.3).
    func isKnown(from validators: Validators?) -> Bool {
        guard let validators else { return false }
        if let known = validators.etag { return known == etag }
        return validators.lastModified == lastModified
    }
}

private func hex(_ number: some BinaryInteger) -> String { String(number, radix: 16) }
