/// One GET.
public struct TransferRequest {
    /// Absolute http or https URL; user info in it becomes basic authentication.
    public var url: String
    /// Header fields that are added, or that replace a default of the same name. Names and values
    /// must not hold line breaks.
    public var headers: [(name: String, value: String)]
    /// Names of headers that are not sent, though they would be by themselves.
    public var removedHeaders: [String] = []
    /// Who asks.
    public var authentication = TransferAuthentication()
    /// Bytes of the body at most, counted as they come: content codings are not undone.
    public var bodyBytesMax: Int64
    /// Milliseconds for everything, redirects included.
    public var timeoutMilliseconds: Int
    /// Whether libcurl goes on to where a redirect leads; else the redirect is the response.
    public var followsRedirects: Bool
    /// Whether the certificate of the origin is verified, and its name.
    public var verifiesTLS = true
    /// How it is signed; `nil`: it is not.
    public var signing: TransferSigning?
    /// Addresses with port that this request may be sent to besides those of the policy.
    public var allowedAddresses: Set<SocketAddress> = []

    /// Describes a GET.
    public init(
        url: String, headers: [(name: String, value: String)] = [], bodyBytesMax: Int64,
        timeoutMilliseconds: Int, followsRedirects: Bool = true
    ) {
        self.url = url
        self.headers = headers
        self.bodyBytesMax = bodyBytesMax
        self.timeoutMilliseconds = timeoutMilliseconds
        self.followsRedirects = followsRedirects
    }

    var isSecure: Bool { url.prefix(8).lowercased() == "https://" }

    /// The lines that libcurl wants: `Name: value`, and `Name;` for an empty value. Nil where a
    /// line break would let a value forge a field of its own.
    var headerLines: [String]? {
        let given = headers.map { $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)" }
        guard given.allSatisfy({ !$0.utf8.contains { $0 == 10 || $0 == 13 || $0 == 0 } }) else {
            return nil
        }
        let removed = Set(removedHeaders.map { $0.lowercased() })
        let names = Set(headers.map { $0.name.lowercased() }).union(removed)
        // libcurl 7.88 signs "accept-encoding" before "accept", which no server does.
        if signing != nil { return given }
        // A name without a value takes back what libcurl would add.
        return Self.defaults.filter { !names.contains($0.name) }.map(\.line) + given
            + removed.sorted().map { "\($0):" }
    }

    /// Source bytes are stored, so they are asked for as they are.
    private static let defaults = [
        (name: "accept", line: "Accept: image/*,*/*;q=0.8"),
        (name: "accept-encoding", line: "Accept-Encoding: identity"),
    ]
}
