import TestKit

/// Visitors that ask for an image and then read no more of it than its head.
final class StalledReaders {
    private final class Reader {
        let client: RawClient
        init(_ client: consuming RawClient) { self.client = client }
    }

    private var readers: [Reader] = []

    /// Bytes that the system keeps for one that does not read, at least.
    private static let keptBytes: Int32 = 4_096
    /// The first of their addresses is 127.0.0.N.
    private static let firstAddress = 20

    /// So many connections, of one visitor after the other, each of which asks for `target` of its
    /// number.
    init(
        _ count: Int, ofVisitors httpClients: Int, at port: UInt16, _ target: (Int) -> String
    ) throws {
        for number in 0..<count {
            let address = UInt8(Self.firstAddress + number % httpClients)
            let client = try RawClient(port: port, from: address, receiving: Self.keptBytes)
            client.get(target(number))
            readers.append(Reader(client))
        }
    }

    /// The beginning of what each was answered, once all were.
    func answers() -> [RawClient.Response] {
        readers.compactMap { RawClient.Response.all(in: $0.client.some(of: 1_024)).first }
    }
}
