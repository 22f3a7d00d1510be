import ImageModel
import Linux

/// One secret file, opened: it belongs to whom it may, and only its owner may change it.
struct SecretFile: ~Copyable {
    private let file: RegularFile

    /// What the kernel says of it.
    var status: FileStatus { file.status }

    init(_ path: String) throws(SecretFileError) {
        let file = try Self.open(path)
        try Self.check(file.status)
        self.file = file
    }

    private static func open(_ path: String) throws(SecretFileError) -> RegularFile {
        do throws(RegularFileError) {
            return try RegularFile(path)
        } catch {
            throw SecretFileError(reason: "the secret \(error)")
        }
    }

    /// Who may change a secret says what origins are told.
    private static func check(_ status: FileStatus) throws(SecretFileError) {
        guard [0, CurrentProcess.userID].contains(status.userID) else {
            throw SecretFileError(reason: "the secret belongs to user \(status.userID)")
        }
        guard status.mode & 0o022 == 0 else {
            throw SecretFileError(reason: "others than its owner may write the secret")
        }
    }

    /// What it has, as the configuration uses it.
    borrowing func text(isProfile: Bool) throws(SecretFileError) -> String {
        isProfile ? try credentials() : try text()
    }

    /// A file of Amazon's tools with credentials of S3 (`S3Credentials`), as it is.
    private borrowing func credentials() throws(SecretFileError) -> String {
        guard let text = String(validating: try bytes(), as: UTF8.self),
            S3Credentials(profileFile: text) != nil
        else {
            throw SecretFileError(
                reason: "it has no profile [default] with aws_access_key_id and "
                    + "aws_secret_access_key")
        }
        return text
    }

    /// Its one line without the end.
    private borrowing func text() throws(SecretFileError) -> String {
        let bytes = try bytes()
        let line = bytes.last == 0x0A ? bytes.dropLast() : bytes[...]
        // Other bytes would go to the origin as something else than what is in the file.
        let valid = String(
            validating: line.last == 0x0D ? line.dropLast() : line, as: UTF8.self)
        guard let text = valid, !text.isEmpty, HTTPHeader(name: "a", value: text).isValid else {
            throw SecretFileError(reason: "a secret is one line of text in UTF-8")
        }
        return text
    }

    private borrowing func bytes() throws(SecretFileError) -> [UInt8] {
        let bytes: [UInt8]
        do throws(RegularFileError) {
            // One byte more than is taken tells a file that is too long.
            bytes = try file.bytes(max: SecretFiles.bytesMax + 1)
        } catch {
            throw SecretFileError(reason: "the secret \(error)")
        }
        guard bytes.count <= SecretFiles.bytesMax else {
            throw SecretFileError(
                reason: "the secret has more than \(SecretFiles.bytesMax) bytes")
        }
        return bytes
    }

    /// What it looks like; `nil` where a change that follows could look the same, since the time
    /// of the last one has no fractions of a second.
    func stamp(at now: Int64 = WallClock.seconds()) -> Stamp? {
        guard status.modifiedSeconds < now - 1 else { return nil }
        return Stamp(
            device: status.device, inode: status.inode, size: status.size,
            modifiedSeconds: status.modifiedSeconds)
    }

    /// Files of equal stamps have equal bytes.
    struct Stamp: Hashable, Sendable {
        let device: UInt64
        let inode: UInt64
        let size: Int
        let modifiedSeconds: Int64
    }
}

/// Why a secret cannot be used; never what is in it.
struct SecretFileError: Error {
    let reason: String
}
