"""URLs of the judging pages, and of judging below /runs/ in the namespace ``runs``."""

from django.urls import path

from evaluations.judging import views as judging
from evaluations.judging.calibration.views import judge_calibration
from evaluations.judging.sampling import views as sampling

app_name = "judging"
urlpatterns = [
    path("", judging.judge_list, name="list"),
    path("start/", judging.judge_start, name="start"),
    path("samples/", sampling.sample_list, name="samples"),
    path("samples/new/", sampling.new_sample, name="sample-new"),
    path("samples/<uuid:public_id>/", sampling.sample_page, name="sample"),
    path("samples/<uuid:public_id>/next/", sampling.next_sample, name="sample-next"),
    path("<int:judge_id>/", judging.judge_page, name="judge"),
    path("<int:judge_id>/calibration/", judge_calibration, name="calibration"),
    path("<int:judge_id>/<uuid:response_id>/", judging.judgement_page, name="judgement"),
]
run_urlpatterns = [
    path("<int:pk>/judges/", judging.run_judges, name="judges"),
    path("<int:pk>/judge/", judging.judge_run, name="judge"),
    path("<int:pk>/repeated-texts/", judging.repeated_reviewed, name="repeated-reviewed"),
]
