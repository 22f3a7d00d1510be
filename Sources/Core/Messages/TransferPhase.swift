/// A part of a transfer that is timed.
public enum TransferPhase: String, Hashable, Sendable, CaseIterable {
    /// Until the name had addresses.
    case name
    /// From there until it was connected.
    case connect
    /// From there until TLS was there.
    case tls
    /// From there until the first byte of the answer.
    case firstByte
    /// The whole download: redirects, and what broke off.
    case total
}

extension FetchAccount {
    /// How long a phase took, in milliseconds; `nil` where it did not take place. The fields
    /// count from the begin of the transfer, phases from the end of the phase before.
    public func milliseconds(of phase: TransferPhase) -> Double? {
        switch phase {
        case .name: Self.span(to: name, from: 0)
        case .connect: Self.span(to: connect, from: name)
        case .tls: Self.span(to: tls, from: connect)
        case .firstByte: Self.span(to: firstByte, from: max(name, connect, tls))
        case .total: Self.span(to: total, from: 0)
        }
    }

    private static func span(to end: Double, from begin: Double) -> Double? {
        end > 0 ? max(0, end - begin) : nil
    }
}
