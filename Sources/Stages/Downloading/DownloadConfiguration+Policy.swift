import Curl
import ImageModel

extension DownloadConfiguration {
    /// The same in the words of the library. Throws `invalidRequest` for an allowed address that
    /// is no IP address with a port, and for a file that has no certificates.
    func policy() throws(ImageError) -> TransferPolicy {
        var allowed: Set<SocketAddress> = []
        for text in allowedAddresses {
            guard let address = SocketAddress(text) else {
                throw ImageError(
                    .invalidRequest,
                    "'\(text)' is no address with a port, such as 10.0.0.7:8080 or [fd00::7]:80")
            }
            allowed.insert(address)
        }
        if let file = certificatesFile { try CertificatesFile.check(file) }
        return TransferPolicy(
            addressGuard: AddressGuard(allowsLocal: allowsPrivateNetworks, allowed: allowed),
            certificatesFile: certificatesFile,
            userAgent: userAgent, connectTimeoutMilliseconds: connectTimeoutMilliseconds,
            lowSpeedBytesPerSecond: lowSpeedBytesPerSecond, lowSpeedSeconds: lowSpeedSeconds,
            redirectsMax: redirectsMax)
    }
}
