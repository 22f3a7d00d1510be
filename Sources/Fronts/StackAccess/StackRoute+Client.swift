package import ImageModel
package import Imagebus
import SharedArena

extension StackRoute {
    /// A client of the stack: of its `admin/` socket for operators, else of `front/`.
    package func client(
        asOperator: Bool = false, delivery: Delivery = .automatic, repeatsAnswers: Bool = true,
        sharesLoads: Bool = true, connectMilliseconds: Int
    ) throws(ImageError) -> ImagebusClient {
        var configuration = ClientConfiguration(
            endpoint: asOperator ? paths.adminSocket : paths.frontSocket,
            resultsDirectory: paths.resultsDirectory,
            connectTimeoutMilliseconds: connectMilliseconds)
        configuration.delivery = delivery
        configuration.repeatsAnswers = repeatsAnswers
        configuration.sharesLoads = sharesLoads
        configuration.servers = servers
        configuration.awaitsCoordinator = isSupervised
        return try ImagebusClient(configuration)
    }
}

extension ImagebusClient {
    /// Milliseconds that a goodbye may take.
    private static let goodbyeMilliseconds = 500

    /// Says goodbye, for a process that ends next.
    package func end() { close(waitingMilliseconds: Self.goodbyeMilliseconds) }
}
