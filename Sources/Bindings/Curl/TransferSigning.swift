/// How a request is signed with a secret key that does not travel: Amazon's Signature Version 4,
/// which S3 servers ask for (`CURLOPT_AWS_SIGV4`).
public struct TransferSigning: Sendable {
    /// Of the signature, such as `eu-central-1`.
    public var region: String
    /// The name of the key.
    public var accessKeyID: String
    /// The key.
    public var secretAccessKey: String

    /// Signs requests to S3.
    public init(region: String, accessKeyID: String, secretAccessKey: String) {
        self.region = region
        self.accessKeyID = accessKeyID
        self.secretAccessKey = secretAccessKey
    }

    var provider: String { "aws:amz:\(region):s3" }
}
