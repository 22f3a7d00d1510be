import ImageModel
import Messages

@testable import Imagebus

extension PendingLoad {
    /// A load that nobody awaits.
    convenience init(_ request: LoadRequest) {
        guard let commands = try? CommandQueue(ordersMax: 1) else {
            preconditionFailure("there are descriptors")
        }
        self.init(request, commands)
    }

    /// The same of thousands, which share a queue and its descriptor.
    convenience init(_ request: LoadRequest, _ commands: CommandQueue) {
        self.init(
            request.image, LoadTask(token: request.token, commands: commands),
            group: request.group, wantsProgress: request.wantsProgress,
            wantsInfo: request.wantsInfo, detach: request.detach,
            uploadBytes: Int(request.uploadBytes), slot: request.slot,
            logContext: request.logContext, httpClient: request.httpClient)
        // What is said only when it is sent again.
        (loadOptions.staleRetries, loadOptions.wantsChunks) = (
            request.staleRetries, request.wantsChunks
        )
    }
}

extension PendingRequests {
    /// Of a load that nobody awaits.
    mutating func submitted(_ request: LoadRequest, at now: Instant) -> PendingRequests.Actions {
        submitted(PendingLoad(request), at: now)
    }
}

extension ImageResponse {
    /// An image; `key` tells it apart.
    static func image(
        _ key: String, _ tier: CacheTypes = .none, _ bytes: ImageBytes? = nil,
        voucher: AnswerVoucher? = nil
    ) -> ImageResponse {
        let info = ImageInfo(format: .png, size: PixelSize(width: 1, height: 1))
        let image = DeliveredImage(reference: nil, info: info, cacheType: tier, key: key)
        var response = ImageResponse(ImageAccount(of: image, StageTimings()), bytes)
        response.voucher = voucher
        return response
    }
}
