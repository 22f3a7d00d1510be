import EventLoop
import ImageModel
package import Imagebus
package import Linux
package import Messages
package import MicroHTTPD
package import Observability

/// Has entries removed for operators, on a listener of its own. One thread, that of its loop.
///
/// A removal goes on where its peer leaves.
package final class OperatorFront: SideFront {
    private var settings: OperatorSettings
    private let client: ImagebusClient
    private let log: Log
    private let mailbox: Mailbox<Ended>
    private var removals: [UInt64: Removal] = [:]
    private var lastNumber: UInt64 = 0

    /// How a removal ended; from the client's thread.
    private struct Ended: Sendable {
        let number: UInt64
        let result: Result<EntryPage, ImageError>
    }

    /// One that the stack works at, and who waits for it.
    private struct Removal {
        let request: PurgeRequest
        var exchange: EventedExchange?
    }

    /// Removals at a time.
    private static let removalsMax = 64

    /// `client` is connected where removals are permitted.
    package init(
        _ settings: OperatorSettings, client: ImagebusClient, log: Log
    ) throws(Errno) {
        (self.settings, self.client, self.log) = (settings, client, log)
        mailbox = try Mailbox(elementsMax: Self.removalsMax)
    }

    /// Answers later requests by other settings, such as those with new tokens.
    package func replace(_ settings: OperatorSettings) { self.settings = settings }

    package var descriptor: Int32 { mailbox.descriptor }

    /// The client says itself when nobody answers.
    package var nextLook: Instant? { nil }

    package func look(at _: Instant) {}

    // MARK: - Requests

    package func admitBody(of exchange: EventedExchange) -> BodyAdmission {
        guard permits(exchange) else { return .refuse(Self.reply(to: .token)) }
        guard exchange.method == "POST" else { return .refuse(Self.reply(to: .body)) }
        return .take(bytesMax: OperatorSettings.bodyBytesMax)
    }

    package func handle(_ exchange: EventedExchange) {
        do throws(PurgeFault) {
            guard permits(exchange) else { throw .token }
            let head = IncomingRequest(exchange.method, exchange.target) { exchange.header($0) }
            let request = try PurgeRequest(head, body: exchange.body, settings)
            guard removals.count < Self.removalsMax else { throw .full }
            remove(request, for: exchange)
        } catch {
            exchange.answer(Self.reply(to: error))
        }
    }

    package func ended(_ exchange: EventedExchange, _: HTTPEnd) {
        for (number, removal) in removals where removal.exchange === exchange {
            removals[number]?.exchange = nil
        }
    }

    private func permits(_ exchange: EventedExchange) -> Bool {
        settings.tokens.permits(exchange.header("Authorization"))
    }

    private func remove(_ request: PurgeRequest, for exchange: EventedExchange) {
        lastNumber += 1
        removals[lastNumber] = Removal(request: request, exchange: exchange)
        let (client, mailbox, number) = (client, mailbox, lastNumber)
        let selection = request.selection
        // On the client's own thread: a pool of threads would need more than a sandbox leaves.
        Task.detached(executorPreference: client.executor) {
            let result: Result<EntryPage, ImageError>
            do throws(ImageError) {
                result = .success(try await client.remove(selection))
            } catch {
                result = .failure(error)
            }
            // There is a place for each removal.
            _ = mailbox.post(Ended(number: number, result: result))
        }
    }

    // MARK: - Answers

    package func takeAnswers() {
        var ends: [Ended] = []
        mailbox.drain(into: &ends)
        for end in ends {
            guard let removal = removals.removeValue(forKey: end.number) else { continue }
            write(removal.request, end.result)
            removal.exchange?.answer(Self.reply(to: removal.request, end.result))
        }
    }

    private func write(_ request: PurgeRequest, _ result: Result<EntryPage, ImageError>) {
        let meant: LogValue =
            switch request.meaning {
            case .url(let text), .prefix(let text): .string(ReducedPath.source(text))
            case .tag(let tag): .string(tag)
            }
        switch result {
        case .success(let page):
            log.info(
                "an operator removed entries",
                [
                    "of": meant, "memory": LogValue(page.memory.entries),
                    "disk": LogValue(page.disk.entries),
                ])
        case .failure(let error):
            log.warning(
                "the removal of an operator failed",
                ["of": meant, "reason": .string("\(error.code): \(error.message)")])
        }
    }

    private static func reply(
        to request: PurgeRequest, _ result: Result<EntryPage, ImageError>
    ) -> HTTPReply {
        switch result {
        case .success(let page):
            let text = PurgeDocument(meaning: request.meaning, page: page).text ?? []
            return reply(200, text)
        case .failure(let error):
            // The operator of the gateway is told what the one of the stack does not permit.
            let failure = FailureStatus(error)
            let status = error.code == .invalidRequest ? 403 : failure.status
            let fault = PurgeFault(status, "\(error.code)", error.message)
            return reply(to: fault, retryAfter: failure.retryAfter)
        }
    }

    private static func reply(to fault: PurgeFault, retryAfter: Int? = nil) -> HTTPReply {
        let document = FailureDocument(
            status: Int(fault.status), error: fault.name, message: fault.message)
        var fields = [(name: "X-Imagebus-Error", value: fault.name)]
        if fault.status == 401 { fields.append(("WWW-Authenticate", "Bearer")) }
        if fault.status == 405 { fields.append(("Allow", PurgeRequest.methods)) }
        if let retryAfter { fields.append(("Retry-After", "\(retryAfter)")) }
        return reply(fault.status, document.text ?? [], fields)
    }

    private static func reply(
        _ status: UInt16, _ body: [UInt8], _ more: [(name: String, value: String)] = []
    ) -> HTTPReply {
        let fields = [
            (name: "Content-Type", value: "application/json"),
            (name: "Cache-Control", value: "no-store"),
            (name: "X-Content-Type-Options", value: "nosniff"),
        ]
        return HTTPReply(status: status, headers: fields + more, body: .bytes(body))
    }
}
