import Model

@testable import Imagebus

extension PendingLoad {
    private static let commands: CommandQueue = {
        guard let commands = try? CommandQueue(commandsMax: 1) else {
            preconditionFailure("there are descriptors")
        }
        return commands
    }()

    /// A load without a caller.
    convenience init(_ request: LoadRequest, bytes: [UInt8]? = nil) {
        self.init(
            request.image, LoadTask(token: request.token, commands: Self.commands),
            LoadOptions(
                group: request.group, wantsProgress: request.wantsProgress,
                wantsInfo: request.wantsInfo, detach: request.detach,
                httpClient: request.httpClient, staleRetries: request.staleRetries,
                wantsChunks: request.wantsChunks),
            slot: request.slot, logContext: request.logContext,
            uploading: bytes ?? [UInt8](repeating: 0, count: Int(request.uploadBytes)))
    }
}

func token(_ number: UInt64) -> Token { Token(Identifier128(high: 0, low: number)) }

/// Milliseconds after the start.
func at(_ milliseconds: Int) -> Instant {
    Instant(nanoseconds: 1).adding(milliseconds: milliseconds)
}

func welcome(window: UInt32 = 2) -> ClientWelcome {
    ClientWelcome(epoch: Epoch(Identifier128(high: 1, low: 1)), window: window)
}

/// The messages of the loads among the actions, in order.
func messages(_ actions: PendingRequests.Actions) -> [LoadRequest] {
    actions.compactMap { if case .load(let load) = $0 { load.message } else { nil } }
}

/// Tokens of the loads among the actions, in order.
func sent(_ actions: PendingRequests.Actions) -> [UInt64] {
    messages(actions).map(\.token.value.low)
}

/// Tokens and codes of the failures among the actions.
func failed(_ actions: PendingRequests.Actions) -> [UInt64: ErrorCode] {
    var failures: [UInt64: ErrorCode] = [:]
    for case .fail(let load, let error) in actions {
        failures[load.token.value.low] = error.code
    }
    return failures
}

extension PendingRequests {
    /// No loads yet; with a session if `window` is given.
    init(window: UInt32?) {
        self.init(connectTimeoutMilliseconds: 5_000)
        if let window { _ = welcomed(welcome(window: window), at: at(0)) }
    }

    /// Submits a load without a caller.
    mutating func submitted(_ request: LoadRequest, at now: Instant) -> PendingRequests.Actions {
        submitted(PendingLoad(request), at: now)
    }
}

extension ImageResponse {
    /// An image, identified by `key`.
    static func image(
        _ key: String, _ tier: CacheTypes = .none, _ bytes: ImageBytes? = nil,
        at reference: BlockReference? = nil, voucher: AnswerVoucher? = nil
    ) -> ImageResponse {
        let info = ImageInfo(format: .png, size: PixelSize(width: 1, height: 1))
        let image = DeliveredImage(reference: reference, info: info, cacheType: tier, key: key)
        var response = ImageResponse(ImageAccount(of: image, StageTimings()), bytes)
        response.voucher = voucher
        return response
    }
}
