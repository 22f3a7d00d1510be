import Linux

/// `rclone serve s3`: an S3 server that checks signatures, over a folder of buckets.
public final class S3Server {
    /// The one key that it takes.
    public static let accessKeyID = "AKIDEXAMPLE"
    /// Its secret.
    public static let secretAccessKey = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"

    /// The TCP port on 127.0.0.1.
    public let port: UInt16
    /// A folder in it is a bucket.
    public let folder = TemporaryDirectory()
    private let program: LaunchedProgram

    /// Where `scripts/s3-server` puts it; nil where it is not on this machine.
    public static let path: String? = {
        let place = RepositoryRoot.file(".build/tools/rclone")
        return (try? FileDescriptor.open(place)) == nil ? nil : place
    }()

    /// Starts it and waits until it listens. With `hostBuckets` buckets are in the host.
    public init(hostBuckets: Bool = false) throws {
        guard let path = Self.path else {
            throw StackFailure("there is no rclone: run scripts/s3-server")
        }
        // Nobody else gets a number again that soon.
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

    deinit {
        try? program.child.send(.kill)
        _ = try? program.child.wait(milliseconds: defaultTimeout.milliseconds)
    }

    /// As a loader is told of it.
    public var endpoint: String { "http://127.0.0.1:\(port)" }

    /// What `allow-addresses` has to name.
    public var address: String { "127.0.0.1:\(port)" }

    /// A file of credentials as Amazon's tools have it.
    public static let profileFile = """
        [default]
        aws_access_key_id = \(accessKeyID)
        aws_secret_access_key = \(secretAccessKey)

        """
}
