package import ImageModel
import JSON
import Nettle
import WebGrammar

/// What follows from how a load ended.
package enum NextMove: Hashable, Sendable {
    /// The image is answered, or a part of it, under this head.
    case image(AnswerHead)
    /// A text is.
    case text(TextAnswer)
    /// Another load takes its place.
    case load(RequestPlan)
}

/// Decides what becomes of a load. Pure: no sockets, no clock.
package struct AnswerMaker: Sendable {
    private let settings: WebFrontSettings

    package init(_ settings: WebFrontSettings) { self.settings = settings }

    /// - Parameter now: milliseconds since 1970.
    package func move(
        after result: Result<DeliveredFacts, ImageError>, of plan: RequestPlan, now: Int64
    ) -> NextMove {
        do throws(ImageError) {
            var image = try result.get()
            image.fallbackFor = plan.fallbackFor ?? image.fallbackFor
            if let facts = plan.facts { return document(image, facts, plan, now) }
            return answer(image, plan, now)
        } catch {
            return failed(error, plan)
        }
    }

    private func answer(
        _ image: DeliveredFacts, _ plan: RequestPlan, _ now: Int64
    ) -> NextMove {
        let answers = settings.answers
        guard image.byteCount != nil else { return .text(answers.sentence(404, "no cache has it")) }
        if plan.framesMax > 1, image.info?.pages ?? 1 > plan.framesMax {
            return .load(plan.asStill())
        }
        if let accept = plan.accept, let info = image.info, accept.weight(of: info.format) == 0 {
            guard let format = accept.replacement(for: info) else {
                return .text(answers.notAcceptable(plan))
            }
            return .load(plan.asking(for: format))
        }
        if image.fallbackFor == nil, !plan.request.isLargeEnough(image.info?.size) {
            return .text(
                answers.sentence(
                    400, "the source is smaller than the size: put ^ before that to enlarge it"))
        }
        return .image(answers.head(of: image, for: plan, now: now))
    }

    private func document(
        _ image: DeliveredFacts, _ facts: FactsPlan, _ plan: RequestPlan, _ now: Int64
    ) -> NextMove {
        let answers = settings.answers
        guard let info = image.info else { return .text(answers.sentence(404, "no cache has it")) }
        do throws(JSONError) {
            let text = try facts.document(info, image.facts, url: plan.request.image.url)
            return .text(
                answers.document(
                    text, facts.contentType, digest: ContentDigest(SHA256.digest(text.span.bytes)),
                    of: image, for: plan, now: now))
        } catch {
            return .text(answers.sentence(500, "the facts cannot be written: \(error.reason)"))
        }
    }

    /// A fallback that cannot be had either says nothing: the first failure is told.
    private func failed(_ error: ImageError, _ plan: RequestPlan) -> NextMove {
        // A still of an animation that is too large may be none of that (SEMANTICS §9.8).
        if error.code == .limitExceeded, plan.keepsFrames { return .load(plan.asStill()) }
        let told = plan.fallbackFor ?? error
        if let fallback = settings.fallback, plan.fallbackFor == nil, plan.upload == nil,
            plan.request.kind == .image, fallback.causes.contain(error)
        {
            return .load(plan.falling(back: fallback, after: error))
        }
        let failure = FailureStatus(told, waits: settings.earlierFailureMilliseconds / 1_000)
        let first = told.firstFailure ?? told
        // A region that lies beside the image (IIIF Image API 3.0, section 4.1).
        let isBeside = plan.request.identifier != nil && told.code == .stepFailed
        return .text(
            settings.answers.failure(
                isBeside ? 400 : failure.status, "\(first.code)", first.message,
                asJSON: plan.wantsJSON, retryAfter: failure.retryAfter, varies: plan.varies))
    }
}
