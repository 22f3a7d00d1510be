import Model

@testable import Imagebus

extension PendingLoad {
    /// A load without a caller.
    convenience init(_ request: LoadRequest) {
        guard let commands = try? CommandQueue(commandsMax: 1) else {
            preconditionFailure("there are descriptors")
        }
        self.init(request, commands)
    }

    /// The same for thousands of loads, which share a queue and its descriptor.
    convenience init(_ request: LoadRequest, _ commands: CommandQueue) {
        self.init(
            request.image, LoadTask(token: request.token, commands: commands),
            group: request.group, wantsProgress: request.wantsProgress,
            wantsInfo: request.wantsInfo, detach: request.detach,
            uploadBytes: Int(request.uploadBytes), slot: request.slot,
            logContext: request.logContext, httpClient: request.httpClient)
        // Set only when the load is resent.
        (loadOptions.staleRetries, loadOptions.wantsChunks) = (
            request.staleRetries, request.wantsChunks
        )
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
