import Curl
import ImageModel
import Messages

extension DownloadConfiguration {
    /// The same in the words of the library. Throws `invalidRequest` for an allowed address that
    /// is no IP address with a port, and for a denied one that is no range of them.
    func policy() throws(ImageError) -> TransferPolicy {
        let allowed = try Self.parsed(
            allowedAddresses, "no address with a port, such as 10.0.0.7:8080 or [fd00::7]:80",
            SocketAddress.init)
        let denied = try Self.parsed(
            deniedAddresses, "no address and no range of them, such as 203.0.113.0/24",
            AddressRange.init)
        return TransferPolicy(
            addressGuard: AddressGuard(
                allowsLocal: allowsPrivateNetworks, allowed: Set(allowed), denied: denied),
            proxy: proxy, certificatesFile: certificatesFile, userAgent: userAgent,
            connectTimeoutMilliseconds: connectTimeoutMilliseconds,
            lowSpeedBytesPerSecond: lowSpeedBytesPerSecond, lowSpeedSeconds: lowSpeedSeconds,
            redirectsMax: redirectsMax)
    }

    /// What a configuration of an operator sets, in the place of what options say.
    func adopting(_ settings: DownloadSettings) -> DownloadConfiguration {
        var adopted = self
        for (setting, text) in settings.texts { _ = adopted.set(setting, to: text) }
        return adopted
    }

    private static func parsed<Value>(
        _ texts: [String], _ otherwise: String, _ value: (String) -> Value?
    ) throws(ImageError) -> [Value] {
        var values: [Value] = []
        for text in texts {
            guard let value = value(text) else {
                throw ImageError(.invalidRequest, "'\(text)' is \(otherwise)")
            }
            values.append(value)
        }
        return values
    }
}

extension TransferPolicy {
    /// What decides on addresses that stand in URLs, where a proxy connects to them.
    var proxied: AddressGuard? { proxy == nil ? nil : addressGuard }
}
