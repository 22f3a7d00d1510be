internal import CCurl

extension CurlError {
    /// Whether the peer's certificate was not believed, or is of another host.
    public var isPeerUnverified: Bool {
        code == .tlsFailed && UInt32(bitPattern: number) == CURLE_PEER_FAILED_VERIFICATION.rawValue
    }

    /// The failures that callers tell apart (libcurl-errors(3)).
    public enum Code: Hashable, Sendable, CaseIterable {
        /// Not http or https, at first or after a redirect.
        case unsupportedProtocol
        /// The URL cannot be parsed.
        case malformedURL
        /// The host name has no address.
        case nameNotResolved
        /// No address of the host took the connection, or all were refused by the guard.
        case couldNotConnect
        /// Connecting, the whole transfer, or its speed was over a limit of time.
        case timedOut
        /// TLS could not be set up, or the peer could not be verified.
        case tlsFailed
        /// A certificate, key or list of authorities here cannot be read; no peer was asked.
        case ownFileFailed
        /// The body ended before its announced length.
        case partialFile
        /// The connection closed without an answer.
        case gotNothing
        /// The connection broke while sending or receiving.
        case connectionBroken
        /// More redirects than permitted.
        case tooManyRedirects
        /// The announced length is over the limit.
        case fileSizeExceeded
        /// The answer is no HTTP, or breaks HTTP/2.
        case protocolBroken
        /// A callback of ours refused to go on.
        case refusedByReceiver
        /// No memory.
        case outOfMemory
        /// Anything else: `number` and `text` say more.
        case other

        init(_ code: CURLcode) {
            self = Self.table[code.rawValue] ?? .other
        }

        private static let table: [UInt32: Code] = rows.reduce(into: [:]) {
            $0[$1.0.rawValue] = $1.1
        }

        private static let rows: [(CURLcode, Code)] = [
            (CURLE_UNSUPPORTED_PROTOCOL, .unsupportedProtocol),
            (CURLE_URL_MALFORMAT, .malformedURL),
            (CURLE_COULDNT_RESOLVE_HOST, .nameNotResolved),
            (CURLE_COULDNT_RESOLVE_PROXY, .nameNotResolved),
            (CURLE_COULDNT_CONNECT, .couldNotConnect),
            (CURLE_PROXY, .couldNotConnect),
            (CURLE_OPERATION_TIMEDOUT, .timedOut),
            (CURLE_SSL_CONNECT_ERROR, .tlsFailed),
            (CURLE_PEER_FAILED_VERIFICATION, .tlsFailed),
            (CURLE_SSL_CERTPROBLEM, .ownFileFailed),
            (CURLE_SSL_CIPHER, .tlsFailed),
            (CURLE_SSL_CACERT_BADFILE, .ownFileFailed),
            (CURLE_SSL_SHUTDOWN_FAILED, .tlsFailed),
            (CURLE_SSL_ISSUER_ERROR, .tlsFailed),
            (CURLE_SSL_INVALIDCERTSTATUS, .tlsFailed),
            (CURLE_SSL_ENGINE_INITFAILED, .tlsFailed),
            (CURLE_SSL_CLIENTCERT, .tlsFailed),
            (CURLE_SSL_ENGINE_NOTFOUND, .tlsFailed),
            (CURLE_SSL_ENGINE_SETFAILED, .tlsFailed),
            (CURLE_SSL_CRL_BADFILE, .ownFileFailed),
            (CURLE_SSL_PINNEDPUBKEYNOTMATCH, .tlsFailed),
            (CURLE_PARTIAL_FILE, .partialFile),
            (CURLE_GOT_NOTHING, .gotNothing),
            (CURLE_SEND_ERROR, .connectionBroken),
            (CURLE_RECV_ERROR, .connectionBroken),
            // One of the streams of a connection was ended by the origin.
            (CURLE_HTTP2_STREAM, .connectionBroken),
            (CURLE_TOO_MANY_REDIRECTS, .tooManyRedirects),
            (CURLE_FILESIZE_EXCEEDED, .fileSizeExceeded),
            (CURLE_WEIRD_SERVER_REPLY, .protocolBroken),
            // More transfer codings than libcurl counts.
            (CURLE_BAD_CONTENT_ENCODING, .protocolBroken),
            (CURLE_HTTP2, .protocolBroken),
            (CURLE_WRITE_ERROR, .refusedByReceiver),
            (CURLE_ABORTED_BY_CALLBACK, .refusedByReceiver),
            (CURLE_OUT_OF_MEMORY, .outOfMemory),
        ]
    }
}
