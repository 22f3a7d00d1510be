import EventLoop
public import ImageModel
import Linux
public import Messages
import ZeroMQ

/// A connection to a stack. Any thread.
///
///     let client = try ImagebusClient(ClientConfiguration(runtimeDirectory: "/run/imagebus"))
///     var request = ImageRequest(url: "https://example.org/photo.jpg")
///     request.steps = [.resize(PixelSize(width: 512, height: 512), .fit)]
///     let image = try await client.load(request).response
///
/// It connects in the background, again and again; loads that have no answer when a coordinator
/// restarts are sent again. Ends with `close()` or with the last reference.
public final class ImagebusClient: Sendable {
    private let orders: Mailbox<ClientOrder>
    private let connectTimeoutMilliseconds: Int

    /// Loads that may be pending in this process.
    private static let ordersMax = 1_000_000

    /// Starts the client's thread. Throws `unavailable` for an endpoint that cannot be one.
    public init(_ configuration: ClientConfiguration) throws(ImageError) {
        connectTimeoutMilliseconds = configuration.connectTimeoutMilliseconds
        do {
            let orders = try Mailbox<ClientOrder>(elementsMax: Self.ordersMax)
            self.orders = orders
            _ = try Endpoint.ipc(path: configuration.endpoint)
            _ = try Thread(name: "imagebus-client") {
                Self.run(configuration, orders)
            }
        } catch {
            throw ImageError(.unavailable, "the client cannot start: \(error)")
        }
    }

    deinit { _ = orders.post(.close) }

    /// Begins a load. Its task ends exactly once; a `group` can be cancelled as a whole. With
    /// `detach` the stack goes on with it when this process ends, so that its result is stored.
    public func load(
        _ request: ImageRequest, group: GroupID? = nil, wantsProgress: Bool = false,
        detach: Bool = false
    ) -> LoadTask {
        let token = Token(Identifier128(high: Random.uint64(), low: Random.uint64()))
        let orders = orders
        let task = LoadTask(token: token) { _ = orders.post(.cancel($0)) }
        let load = LoadRequest(
            token: token, group: group, image: request, wantsProgress: wantsProgress,
            detach: detach)
        if !orders.post(.load(load, task)) {
            task.finish(.failure(ImageError(.busy, "too many loads are pending in this process")))
        }
        return task
    }

    /// Begins a load of a URL.
    public func load(_ url: String, wantsProgress: Bool = false) -> LoadTask {
        load(ImageRequest(url: url), wantsProgress: wantsProgress)
    }

    /// Cancels all loads of a group that were begun before.
    public func cancel(group: GroupID) { _ = orders.post(.cancelGroup(group)) }

    /// Cancels a request of any client. For operators, whose endpoint is `admin.sock`.
    public func cancelAny(_ token: Token) { _ = orders.post(.cancelAny(token)) }

    /// Cancels all requests of a group, of any client. For operators.
    public func cancelAny(group: GroupID) { _ = orders.post(.cancelGroupOfAny(group)) }

    /// Processes, queues and counters of the stack. Throws `unavailable` where nobody answers
    /// within the connect timeout.
    public func status() async throws(ImageError) -> StatusReport {
        try await ask { .status($0) }
    }

    /// Lists or changes what is not tried. For operators: on `front.sock` it is refused with
    /// `protocolViolation`. Throws `unavailable` where nobody answers within the connect timeout.
    public func blacklist(_ command: BlacklistCommand) async throws(ImageError) -> BlacklistReport {
        try await ask { .blacklist(command, $0) }
    }

    private func ask<Answer: Sendable>(
        _ order: (Inquiry<Answer>) -> ClientOrder
    ) async throws(ImageError) -> Answer {
        let deadline = Instant.now().adding(milliseconds: connectTimeoutMilliseconds)
        let result: Result<Answer, ImageError> = await withCheckedContinuation { continuation in
            let inquiry = Inquiry<Answer>(deadline: deadline, continuation)
            if !orders.post(order(inquiry)) { inquiry.answer(.failure(.clientClosed)) }
        }
        return try result.get()
    }

    /// Ends all pending loads with `cancelled`, and the connection. Bytes that were delivered stay.
    public func close() { _ = orders.post(.close) }

    private static func run(_ configuration: ClientConfiguration, _ orders: Mailbox<ClientOrder>) {
        do {
            var line = try ClientLine(configuration, orders: orders)
            try line.run()
        } catch {
            refuseAll(orders, ImageError(.internalError, "the client cannot go on: \(error)"))
        }
    }

    /// Nobody else reads the orders now: whoever waits is told so.
    private static func refuseAll(_ orders: Mailbox<ClientOrder>, _ error: ImageError) {
        while let order = try? orders.take(milliseconds: nil) {
            switch order {
            case .load(_, let task): task.finish(.failure(error))
            case .status(let inquiry): inquiry.answer(.failure(error))
            case .blacklist(_, let inquiry): inquiry.answer(.failure(error))
            case .close: return
            case .cancel, .cancelGroup, .cancelAny, .cancelGroupOfAny, .release: continue
            }
        }
    }
}
