import Curl
import TestKit

/// The result of one transfer.
struct TransferResult {
    var error: CurlError?
    var heads: [ResponseHead] = []
    var body: [UInt8] = []
    var effectiveURL = ""
    var refused: SocketAddress?

    var head: ResponseHead? { heads.last }
}

/// Collects everything that a transfer delivers, up to a limit.
final class CollectingSink: TransferSink {
    private(set) var heads: [ResponseHead] = []
    private(set) var body: [UInt8] = []
    private let refusesAfter: Int

    init(refusesAfter: Int = .max) {
        self.refusesAfter = refusesAfter
    }

    func receive(_ head: ResponseHead) -> Bool {
        heads.append(head)
        return true
    }

    func receive(_ bytes: RawSpan) -> Reception {
        body += bytes.withUnsafeBytes { Array($0) }
        return body.count <= refusesAfter ? .accepted : .refused
    }
}

func policy(allowing origins: [OriginServer]) -> TransferPolicy {
    let allowed = origins.compactMap { SocketAddress($0.authority) }
    var policy = TransferPolicy(userAgent: "Imagebus/test")
    policy.addressGuard = AddressGuard(allowed: Set(allowed))
    return policy
}

/// Runs one transfer to completion on this thread.
func run(
    _ url: String, allowing origins: [OriginServer], headers: [(name: String, value: String)] = [],
    bodyBytesMax: Int64 = 1 << 30, refusesAfter: Int = .max,
    change: (inout TransferPolicy) -> Void = { _ in }
) throws(CurlError) -> TransferResult {
    var policy = policy(allowing: origins)
    change(&policy)
    var set = try TransferSet(try CurlLibrary.start(), policy: policy)
    let sink = CollectingSink(refusesAfter: refusesAfter)
    let request = TransferRequest(
        url: url, headers: headers, bodyBytesMax: bodyBytesMax, timeoutMilliseconds: 30_000)
    let transfer = try set.start(request, into: sink)
    while true {
        try set.perform()
        if let ended = set.nextEnded() {
            return TransferResult(
                error: ended.error, heads: sink.heads, body: sink.body,
                effectiveURL: transfer.effectiveURL, refused: transfer.refusedAddress)
        }
        try set.wait(milliseconds: 1000)
    }
}
