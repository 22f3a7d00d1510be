import Curl
import ImageModel
import Messages

/// What a request to an S3 server has besides the URL and the conditions of any other one.
struct S3Request {
    /// The URL at the endpoint.
    let url: String
    /// What the object is called outside.
    let name: String
    /// Headers that are signed with the request.
    let headers: [HTTPHeader]
    /// `nil`: it asks as nobody.
    let signing: TransferSigning?
    let allowedAddresses: Set<SocketAddress>

    /// `nil` for another loader. Throws `invalidURL` for a URL that names no object, and
    /// `invalidRequest` for a place that is none.
    init?(_ work: FetchWork) throws(ImageError) {
        guard case .s3(let place) = work.loader else { return nil }
        let source = try SourceURL(work.url)
        try work.loader.check(source)
        guard S3Place.isEndpoint(place.endpoint), S3Place.isRegion(place.region),
            place.credentials?.isValid ?? true
        else { throw ImageError(.invalidRequest, "the loader has no endpoint of S3") }
        url = place.url(of: try S3Object(source))
        name = source.withoutUserInfo
        headers = Self.headers(place.credentials)
        signing = place.credentials.map {
            TransferSigning(
                region: place.region, accessKeyID: $0.accessKeyID,
                secretAccessKey: $0.secretAccessKey)
        }
        allowedAddresses = Set(place.allowedAddresses.compactMap { SocketAddress($0) })
    }

    /// A GET has no body, whose digest is that of nothing.
    private static func headers(_ credentials: S3Credentials?) -> [HTTPHeader] {
        guard let credentials else { return [] }
        let digest = HTTPHeader(name: "x-amz-content-sha256", value: emptyDigest)
        guard !credentials.sessionToken.isEmpty else { return [digest] }
        return [
            digest, HTTPHeader(name: "x-amz-security-token", value: credentials.sessionToken),
        ]
    }

    /// SHA-256 of no bytes.
    private static let emptyDigest =
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    /// Nothing of the request goes anywhere else.
    static let redirected = DownloadFailure.refused(
        ImageError(
            .invalidDownloadResponse,
            "the S3 server leads to another URL, which no loader of S3 follows: put right "
                + "endpoint, region or bucket of the loader in the file of serve --config"))
}
