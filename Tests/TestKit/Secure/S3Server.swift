import Linux

/// `rclone serve s3`: an S3 server that checks signatures. It serves a folder whose subfolders are
/// buckets.
public final class S3Server {
    /// The only access key that it accepts.
    public static let accessKeyID = "AKIDEXAMPLE"
    /// The secret of the access key.
    public static let secretAccessKey = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"

    /// The TCP port on 127.0.0.1.
    public let port: UInt16
    /// The served folder; each folder in it is a bucket.
    public let folder = TemporaryDirectory()
    private let program: LaunchedProgram

    /// The path that `scripts/s3-server` installs to; nil if it isn't installed.
    public static let path: String? = {
        let place = RepositoryRoot.file(".build/tools/rclone")
        return (try? FileDescriptor.open(place)) == nil ? nil : place
    }()

    /// Starts the server and waits until it listens. With `hostBuckets` the host name contains the
    /// bucket.
    public init(hostBuckets: Bool = false) throws {
        guard let path = Self.path else {
            throw StackFailure("there is no rclone: run scripts/s3-server")
        }
        // The system doesn't reuse a port number that soon.
        port = OriginListener(ipv6: false).port
        let command = ChildCommand(
            path,
            [
                "serve", "s3", folder.path, "--addr", "127.0.0.1:\(port)", "--auth-key",
                "\(Self.accessKeyID),\(Self.secretAccessKey)", "--config", "/dev/null",
                "--cache-dir", folder.path + ".cache", "--dir-cache-time", "1ms",
                "--force-path-style=\(!hostBuckets)",
            ])
        program = try LaunchedProgram(command, reading: [1, 2])
        try program.awaitLine { $0.contains("Starting s3 server") }
    }

    /// The endpoint, for the configuration of a loader.
    public var endpoint: String { "http://127.0.0.1:\(port)" }

    /// The address, for `allow-addresses`.
    public var address: String { "127.0.0.1:\(port)" }

    /// A credentials file in the format of the AWS tools.
    public static let profileFile = """
        [default]
        aws_access_key_id = \(accessKeyID)
        aws_secret_access_key = \(secretAccessKey)

        """
}
