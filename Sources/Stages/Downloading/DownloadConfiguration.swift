import Curl
import ImageModel
import Linux
public import Messages

/// What holds for all transfers of a download worker.
public struct DownloadConfiguration: Hashable, Sendable {
    /// Whether loopback, private and link-local addresses may be connected to.
    public var allowsPrivateNetworks = false
    /// `IP:PORT` or `[IPv6]:PORT`, each allowed whatever its scope.
    public var allowedAddresses: [String] = []
    /// Path of certificates in PEM that are trusted in place of the system's.
    public var certificatesFile: String?
    /// `User-Agent`, unless a request brings its own.
    public var userAgent: String
    /// Which responses bring an image.
    public var accepted = AcceptedResponses()
    /// The URL of the proxy through which all goes; it resolves names.
    public var proxy: String?
    /// `IP` or `IP/BITS`, none of which is connected to, whoever allows it.
    public var deniedAddresses: [String] = []
    /// Transfers at a time at most; one more is answered *busy*.
    public var jobsMax = Int(WorkerKind.download.creditMax)
    /// Milliseconds for resolving a name and connecting.
    public var connectTimeoutMilliseconds = 10_000
    /// Milliseconds for a whole transfer, whatever its deadline says.
    public var totalTimeoutMilliseconds = 300_000
    /// A transfer slower than this many bytes a second …
    public var lowSpeedBytesPerSecond = 1_024
    /// … for this many seconds ends as timed out.
    public var lowSpeedSeconds = 15
    /// Redirects followed at most.
    public var redirectsMax = 10
    /// How often at most a transfer that broke off goes on where it was; 0: it ends.
    public var continuationsMax = 3
    /// Milliseconds between two progress reports of a transfer at least.
    public var progressIntervalMilliseconds = 100
    /// Milliseconds after which bytes that were looked at are handed out once more where no others
    /// have come. Whoever looked may have had no time for them.
    public var handOutAgainMilliseconds = 200

    /// The defaults suit images from the public internet; `version` goes into `User-Agent`.
    public init(version: String) {
        userAgent = "Imagebus/\(version)"
    }

    var handingOut: EarlyBody.Pace {
        EarlyBody.Pace(interval: progressIntervalMilliseconds, again: handOutAgainMilliseconds)
    }
}

extension DownloadConfiguration {
    /// Sets what an operator says. Returns false, and changes nothing, where the text is no value
    /// of the setting.
    public mutating func set(_ setting: DownloadSetting, to text: String) -> Bool {
        guard let value = setting.value(of: text) else { return false }
        switch (setting, value) {
        case (.connectTimeout, .number(let seconds)): connectTimeoutMilliseconds = seconds * 1_000
        case (.transferTimeout, .number(let seconds)): totalTimeoutMilliseconds = seconds * 1_000
        case (.lowSpeed, .number(let bytes)): lowSpeedBytesPerSecond = bytes
        case (.lowSpeedTime, .number(let seconds)): lowSpeedSeconds = seconds
        case (.redirectLimit, .number(let count)): redirectsMax = count
        case (.continuationLimit, .number(let count)): continuationsMax = count
        case (.userAgent, .text(let text)): userAgent = text
        case (.acceptStatus, .statuses(let statuses)): accepted.statuses = statuses
        case (.acceptType, .types(let types)): accepted.types = types
        case (.proxy, .text(let url)): proxy = url
        default: return false
        }
        return true
    }
}

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

/// A file of trusted certificates, looked at before the first transfer: libcurl would say of each
/// transfer that it cannot use it.
enum CertificatesFile {
    private static let bytesMax = 16 << 20
    private static let mark = Array("-----BEGIN CERTIFICATE-----".utf8)

    /// Throws `invalidRequest` for a file that cannot be read or has no certificate in PEM.
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
                "--ca-file \(path) has no certificate in PEM, which begins with "
                    + String(decoding: mark, as: UTF8.self))
        }
    }
}
