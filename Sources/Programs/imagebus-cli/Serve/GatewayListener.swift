import Linux
import Messages

/// The socket of the gateway, which outlives each of its processes: who connects while the next one
/// starts waits.
final class GatewayListener {
    private var listener: TCPListener?
    private let place: ListenPlace
    private let port: UInt16

    init(_ place: ListenPlace) throws(GatewayListenError) {
        do throws(Errno) {
            let made = try TCPListener(address: place.address, port: place.port)
            port = made.port
            listener = consume made
        } catch {
            throw GatewayListenError(place: place, errno: error)
        }
        self.place = place
    }

    /// What the gateway inherits.
    var descriptorNumber: Int32? { listener?.descriptor.number }

    /// What a browser on this machine opens.
    var url: String { place.url(port: port) }

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
        "the gateway cannot listen at \(place.address), port \(place.port) (\(errno)): --gateway "
            + "names another place"
    }
}
