import ImageModel

/// What was ordered, as it was admitted: fixed from then on, and one object for the request and
/// all work that is done for it, so that passing it on costs nothing.
final class Order: Sendable {
    let image: ImageRequest
    let names: RequestNames
    let key: ResultKey
    let plan: JobPlan
    /// Where its source lies, if it came along with the request.
    let upload: Upload?

    init(
        _ image: ImageRequest, _ names: RequestNames, upload: Upload? = nil, distrustsMemory: Bool
    ) {
        self.image = image
        self.names = names
        self.upload = upload
        key = ResultKey(image)
        plan = JobPlan(image, distrustsMemory: distrustsMemory)
    }
}
