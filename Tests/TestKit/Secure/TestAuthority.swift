/// A certificate authority for one test, with all files in a folder of its own.
public final class TestAuthority: Sendable {
    private let folder = TemporaryDirectory()

    /// The path of its own certificate, for clients that should trust it.
    public var certificate: String { folder.file("ca.pem") }

    /// A certificate and its key.
    struct Files: Sendable {
        let key: String
        let certificate: String
    }

    /// Creates an authority that no client trusts yet.
    public init() throws {
        try makeKey("ca", ["-x509", "-days", "2", "-out", certificate])
    }

    /// Signs a certificate for `name`, such as `IP:127.0.0.1`, that expires after `days`; if
    /// negative, it has expired already.
    func sign(_ file: String, for name: String, days: Int = 2) throws -> Files {
        let request = folder.file("\(file).csr")
        try makeKey(file, ["-out", request])
        let extensions = folder.write(Array("subjectAltName=\(name)".utf8), to: "\(file).ext")
        let files = files(file)
        _ = try Tool.run([
            "openssl", "x509", "-req", "-in", request, "-CA", certificate, "-CAkey",
            folder.file("ca.key"), "-CAcreateserial", "-days", "\(days)", "-extfile", extensions,
            "-out", files.certificate,
        ])
        return files
    }

    /// A client certificate and its key: two PEM files.
    public func client() throws -> (certificate: String, key: String) {
        let files = try sign("client", for: "DNS:client.invalid")
        return (files.certificate, files.key)
    }

    /// A certificate that is signed with its own key.
    func selfSigned(_ file: String, for name: String) throws -> Files {
        let files = files(file)
        try makeKey(
            file,
            ["-x509", "-days", "2", "-addext", "subjectAltName=\(name)", "-out", files.certificate])
        return files
    }

    private func makeKey(_ file: String, _ more: [String]) throws {
        _ = try Tool.run(
            [
                "openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                "-nodes", "-subj", "/CN=\(file)", "-keyout", folder.file("\(file).key"),
            ] + more)
    }

    private func files(_ file: String) -> Files {
        Files(key: folder.file("\(file).key"), certificate: folder.file("\(file).pem"))
    }
}
