import Curl
import Linux
package import Model

/// The settings for all transfers of a download worker.
package struct DownloadConfiguration: Hashable, Sendable {
    /// Whether connections to loopback, private and link-local addresses are allowed.
    package var allowsPrivateNetworks = false
    /// `IP:PORT` or `[IPv6]:PORT`, each allowed regardless of its scope.
    package var allowedAddresses: [String] = []
    /// The path of a PEM file with trusted certificates, which replace the system's.
    package var certificatesFile: String?
    /// The settings of libcurl, without addresses and certificates.
    var transfer: TransferPolicy
    /// The responses that are accepted as images.
    package var accepted = AcceptedResponses()
    /// `IP` or `IP/BITS`; connections to these addresses are always blocked.
    package var deniedAddresses: [String] = []
    /// The maximum number of concurrent transfers; further jobs fail as *busy*.
    package var jobsMax = Int(WorkerKind.download.creditMax)
    /// The timeout for a whole transfer in milliseconds, regardless of its deadline.
    package var totalTimeoutMilliseconds = 300_000
    /// The maximum number of redirects to follow.
    package var redirectsMax = 10
    /// How often an interrupted transfer is continued; 0 to fail immediately.
    package var continuationsMax = 3

    /// When progress is reported and partial data is published.
    var publishing = EarlyBody.Pace()

    /// Creates a configuration with defaults for images from the public internet; `version` is part
    /// of the `User-Agent`.
    package init(version: String) {
        transfer = TransferPolicy(userAgent: "Imagebus/\(version)")
    }
}

extension DownloadConfiguration {
    /// Applies an operator's setting. Returns false, without a change, if the text is not a valid
    /// value.
    package mutating func set(_ setting: DownloadSetting, to text: String) -> Bool {
        guard let value = setting.value(of: text) else { return false }
        switch (setting, value) {
        case (.connectTimeout, .number(let seconds)):
            transfer.connectTimeoutMilliseconds = seconds * 1_000
        case (.transferTimeout, .number(let seconds)): totalTimeoutMilliseconds = seconds * 1_000
        case (.lowSpeed, .number(let bytes)): transfer.lowSpeedBytesPerSecond = bytes
        case (.lowSpeedTime, .number(let seconds)): transfer.lowSpeedSeconds = seconds
        case (.redirectLimit, .number(let count)): redirectsMax = count
        case (.continuationLimit, .number(let count)): continuationsMax = count
        case (.userAgent, .text(let text)): transfer.userAgent = text
        case (.acceptStatus, .statuses(let statuses)): accepted.statuses = statuses
        case (.acceptType, .types(let types)): accepted.types = types
        case (.proxy, .text(let url)): transfer.proxy = url
        default: return false
        }
        return true
    }
}

extension DownloadConfiguration {
    /// Returns the policy for the library. Throws `invalidRequest` for an allowed address that
    /// isn't an IP address with a port, and for a denied one that isn't an address range.
    func policy() throws(ImageError) -> TransferPolicy {
        let allowed = try Self.parsed(
            allowedAddresses, "not an address with a port, such as 10.0.0.7:8080 or [fd00::7]:80",
            SocketAddress.init)
        let denied = try Self.parsed(
            deniedAddresses, "not an address or an address range, such as 203.0.113.0/24",
            AddressRange.init)
        var policy = transfer
        policy.certificatesFile = certificatesFile
        policy.addressGuard = AddressGuard(
            allowsLocal: allowsPrivateNetworks, allowed: Set(allowed), denied: denied)
        return policy
    }

    /// Returns the configuration with an operator's settings, which override options.
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
    /// Checks addresses in URLs if a proxy connects to them.
    var proxied: AddressGuard? { proxy == nil ? nil : addressGuard }
}

/// Validates a file of trusted certificates before the first transfer, since libcurl would only
/// report the problem for each transfer.
enum CertificatesFile {
    private static let bytesMax = 16 << 20
    private static let mark = Array("-----BEGIN CERTIFICATE-----".utf8)

    /// Throws `invalidRequest` for a file that can't be read or contains no PEM certificate.
    static func check(_ path: String) throws(ImageError) {
        let bytes: [UInt8]
        do throws(Errno) {
            bytes = try FileDescriptor.open(path).readToEnd(bytesMax: bytesMax)
        } catch {
            throw ImageError(.invalidRequest, "--ca-file \(path) cannot be read: \(error)")
        }
        guard bytes.firstRange(of: mark) != nil else {
            throw ImageError(
                .invalidRequest,
                "--ca-file \(path) contains no PEM certificate, which begins with "
                    + String(decoding: mark, as: UTF8.self))
        }
    }
}
