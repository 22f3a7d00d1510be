import ImageModel
import Messages

extension JobWork {
    /// What a job costs, in the unit of its stage: fairness between flows, the bounds of queues and
    /// the drain rate count in it. At least 1.
    ///
    /// A fetch, a query and a question about an entry are 1; a store counts units of 4 KiB, a
    /// decode the bytes of the encoded source, a transform pixels times how slow its encoder is.
    var cost: UInt64 {
        switch self {
        case .fetch, .query, .entry: 1
        case .store(let work): max(1, work.source.length.dividedRoundingUp(by: 4_096))
        case .decode(let work): max(1, work.source.length)
        case .transform(let work):
            max(1, work.pixels) * (work.output.format ?? work.sourceInfo.format).encoderClass
        case .paint(let work):
            UInt64(clamping: max(1, work.size.area ?? 1))
                * (work.output.format ?? .png).encoderClass
        }
    }
}

extension TransformWork {
    fileprivate var pixels: UInt64 {
        ([layout] + overlays.map(\.layout)).reduce(0) { sum, layout in
            sum &+ UInt64(clamping: layout.planes.first?.size.area ?? 1)
        }
    }
}

extension ImageFormat {
    /// How much longer an encoder takes for a pixel than that of JPEG does.
    fileprivate var encoderClass: UInt64 {
        switch self {
        case .avif: 8
        case .png, .webp: 4
        default: 1
        }
    }
}

extension UInt64 {
    fileprivate func dividedRoundingUp(by divisor: UInt64) -> UInt64 {
        self / divisor + (self % divisor == 0 ? 0 : 1)
    }
}
