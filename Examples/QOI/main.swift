import ImagebusWorker

ImagebusWorker.run(QOICoder())
