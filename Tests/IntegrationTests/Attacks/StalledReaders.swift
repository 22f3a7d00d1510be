/// HTTP clients that request an image and then read only its head.
final class StalledReaders {
    private var readers: [HeldClient] = []

    /// The receive buffer of a client that doesn't read, in bytes; the system may use more.
    private static let keptBytes: Int32 = 4_096
    /// The last byte N of the first of their addresses, 127.0.0.N.
    private static let firstAddress = 20

    /// Opens `count` connections from the clients in turn, each of which requests `target` of its
    /// number.
    init(
        _ count: Int, ofHTTPClients httpClients: Int, at port: UInt16, _ target: (Int) -> String
    ) throws {
        for number in 0..<count {
            let address = UInt8(Self.firstAddress + number % httpClients)
            let client = try RawClient(port: port, from: address, receiving: Self.keptBytes)
            client.get(target(number))
            readers.append(HeldClient(client))
        }
    }

    /// The beginning of each response, once all have arrived.
    func answers() -> [RawClient.Response] {
        readers.compactMap { RawClient.Response.all(in: $0.client.some(of: 1_024)).first }
    }
}
