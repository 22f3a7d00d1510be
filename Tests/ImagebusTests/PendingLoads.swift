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

extension PendingRequests {
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
