import Linux
import Messages

/// The socket of the gateway, which outlives each of its processes: who connects while the next one
/// starts waits.
final class GatewayListener {
    private var listener: StreamListener?
    private let place: ListenPlace
    private let port: UInt16?

    init(_ place: ListenPlace) throws(GatewayListenError) {
        do throws(Errno) {
            let made = try Self.listener(at: place)
            port = made.port
            listener = consume made
        } catch {
            throw GatewayListenError(place: place, errno: error)
        }
        self.place = place
    }

    private static func listener(at place: ListenPlace) throws(Errno) -> StreamListener {
        switch place {
        case .tcp(let address, let port):
            return try StreamListener(address: address, port: port)
        case .unix(let path):
            return try StreamListener(socketPath: path, mode: ListenPlace.socketMode)
        }
    }

    /// What the gateway inherits.
    var descriptorNumber: Int32? { listener?.descriptor.number }

    /// What a browser on this machine opens, or the Unix socket as the options write it.
    var url: String { place.url(port: port ?? 0) }

    /// Whoever has inherited it may go on; who connects behind that is refused.
    func close() { listener = nil }
}

/// The address of the gateway cannot be had.
struct GatewayListenError: Error, Hashable, CustomStringConvertible {
    let place: ListenPlace
    let errno: Errno

    /// A setting that cannot be used.
    static let exitStatus: Int32 = 78

    var description: String {
        "the gateway cannot listen at \(place.text) (\(errno)): name another place with --gateway"
    }
}
