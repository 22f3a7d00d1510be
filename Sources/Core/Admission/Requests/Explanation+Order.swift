import Derivation
import ImageModel
import Messages

// How the image of a request came about, as far as the coordinator and its workers know.
extension Explanation {
    /// `nil` where the request did not ask.
    init?(
        _ order: Order, _ image: DeliveredImage, made: Made? = nil
    ) {
        self.init(order.image, order.plan, image, made: made)
    }

    /// `nil` where the request did not ask.
    init?(
        _ request: ImageRequest, _ plan: JobPlan, _ image: DeliveredImage, made: Made? = nil
    ) {
        guard request.wantsExplanation else { return nil }
        let steps = request.allSteps
        var transformed = made?.transformed
        if let account = transformed {
            transformed?.foldedSteps = min(account.foldedSteps, UInt32(steps.count))
        }
        self.init(
            plan: plan.stageNames, steps: steps.map(Self.text),
            settings: transformed == nil ? [:] : request.output.told(to: image.info.format),
            fetched: made?.fetched, decoded: made?.decoded, transformed: transformed)
    }

    /// The key has all that the step says; that of an overlay has a URL, which is nobody's
    /// business here.
    private static func text(_ step: TransformStep) -> String {
        let text = step.overlay == nil ? step.key : step.name
        guard text.utf8.count > MessageLimits.textBytesMax else { return text }
        return step.name
    }
}

extension OutputOptions {
    /// What an encoder of the format is told, by name: the quality where it has one, and what the
    /// request says besides.
    fileprivate func told(to format: ImageFormat) -> [String: String] {
        var told = settingTexts.filter { name, _ in
            OutputSetting(name: name)?.row.formats.contains(format) == true
        }
        let output = format.traits.output
        if output?.losesSomething(self) == true {
            told["quality"] = "\(quality ?? Self.defaultQuality)"
        }
        if lossless, output?.loss == .optional { told["lossless"] = OutputSetting.isThere }
        if let compression, format == .png { told["compression"] = "\(compression)" }
        return told
    }
}
