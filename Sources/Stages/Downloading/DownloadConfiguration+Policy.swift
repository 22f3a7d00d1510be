import Curl
import ImageModel

extension DownloadConfiguration {
    private func addressGuard(
        _ allowed: Set<SocketAddress>
    ) throws(ImageError) -> AddressGuard {
        var denied: [AddressRange] = []
        for text in deniedAddresses {
            guard let range = AddressRange(text) else {
                throw ImageError(
                    .invalidRequest,
                    "'\(text)' is no address and no range of them, such as 203.0.113.0/24")
            }
            denied.append(range)
        }
        return AddressGuard(allowsLocal: allowsPrivateNetworks, allowed: allowed, denied: denied)
    }

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
            addressGuard: try addressGuard(allowed), proxy: proxy,
            certificatesFile: certificatesFile,
            userAgent: userAgent, connectTimeoutMilliseconds: connectTimeoutMilliseconds,
            lowSpeedBytesPerSecond: lowSpeedBytesPerSecond, lowSpeedSeconds: lowSpeedSeconds,
            redirectsMax: redirectsMax)
    }
}
